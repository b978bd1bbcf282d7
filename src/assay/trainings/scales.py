"""How much is trained for the probes that need a trainer, under each preset?

`paper` holds the papers' numbers; `quick` is for a first look on a laptop and says so by its
wide intervals.
"""

from assay.lessons import Scale

# Wiegreffe & Pinter name 2e-4 to 1e-3; the ends show where the frontier begins and breaks.
PAPER_WEIGHTS = (0.0, 1e-4, 2e-4, 3e-4, 5e-4, 8e-4, 1e-3, 2e-3, 5e-3, 1e-2)
QUICK_WEIGHTS = (0.0, 1e-3, 1e-2)


def scale_for(preset: str, seed: int, seeds: int | None, from_scratch: bool = False) -> Scale:
    """`seeds` takes the place of the preset's numbers of models that differ by seed.

    Those in which only one seed differs are the exception: they come with the paper's own numbers.
    """
    if preset == "paper":
        return Scale(
            seed=seed, together=seeds or 8, apart=0 if seeds else 4, uniforms=seeds or 3,
            guides=seeds or 3, chains=seeds or 3, weights=PAPER_WEIGHTS,
            first_epochs=80 if from_scratch else 20, next_epochs=6,
            patience=10, from_scratch=from_scratch, deceptions=(0.1, 1.0),
        )  # fmt: skip
    return Scale(
        seed=seed, together=seeds or 2, apart=0, uniforms=seeds or 2, guides=seeds or 1,
        chains=seeds or 1, weights=QUICK_WEIGHTS, first_epochs=3, next_epochs=2, patience=10,
        from_scratch=from_scratch, deceptions=(1.0,),
    )  # fmt: skip

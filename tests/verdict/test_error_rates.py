"""The error rates that come with the package."""

from assay.verdict import CLAIMS
from assay.verdict.error_rates import Share, error_rates


def test_a_share_reads_as_words() -> None:
    assert str(Share(3, 1_200)) == "3 of 1,200"


def test_rates_belong_to_claims_and_count_within_their_cases() -> None:
    names = {claim.name for claim in CLAIMS}
    for claim, rate in error_rates().items():
        assert claim in names
        for share in (rate.wrong_at_0, rate.wrong_at_1, rate.decided):
            assert 0 <= share.cases <= share.of

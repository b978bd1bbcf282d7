"""`python -m assay` is the command."""

from assay.cli import main

main()

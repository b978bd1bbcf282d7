"""The tables of the papers and the numbers published in them."""

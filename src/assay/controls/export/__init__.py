"""Models with known answers, written to files so that other toolkits can be tested on them."""

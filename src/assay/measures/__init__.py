"""How far apart are two lists, two distributions or two samples, and is it more than chance?"""

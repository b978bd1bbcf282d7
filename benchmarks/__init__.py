"""How much faster are our routes than the plain loops of the papers, at equal results?"""

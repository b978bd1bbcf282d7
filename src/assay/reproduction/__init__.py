"""How do our numbers stand beside the published ones?"""

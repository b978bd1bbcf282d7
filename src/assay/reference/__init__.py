"""What did the papers print, and which of our numbers stand beside it?"""

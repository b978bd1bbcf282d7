"""Whose mistake was it, and what is the cure?"""


class UserError(Exception):
    """Something the user can mend.

    The message repeats what was given and names the cure, because it is all the user will
    see: the command line prints it without a traceback and exits with 2.
    """

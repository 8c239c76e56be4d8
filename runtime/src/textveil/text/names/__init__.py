"""Text that reads: words of a public list are shown, all others become members of their kinds, without a look.

A text is cut by ``chunks``. ``places`` says what is shown and what is one slot, ``kinds`` names each slot, and
``rewrite`` draws a member of its kind and writes it.
"""

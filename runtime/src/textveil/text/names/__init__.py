"""Text that reads: words of a public list are shown, all others become members of their kinds, without a look."""

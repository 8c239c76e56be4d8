"""What can be proven about the accuracy of a private release, whatever is trained."""

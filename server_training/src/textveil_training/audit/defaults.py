"""Default numbers of draws and confidence of audits, for the command line, the procedure and the sampler's audit."""

#: Draws of each of the two inputs of the pair test.
DRAWS = 20_000
#: Draws of the audit of a bundle's sampler against its exact probabilities.
SAMPLER_DRAWS = 1_000_000
#: Probability that a reported bound does not exceed the true epsilon.
CONFIDENCE = 0.999

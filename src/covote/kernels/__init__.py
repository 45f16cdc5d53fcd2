"""Every compiled loop: plain arrays in, plain arrays out; right with the JIT switched off too.

Answers are rows of a table: `answer[a] = annotator * n_classes + label`; the answers of item n are
`answer[offsets[n]:offsets[n + 1]]`, sorted by annotator. Optional arrays are empty when not used. Kernels are serial
and release the interpreter lock: threads run them over fixed spans of items, so sums do not depend on their number.
"""

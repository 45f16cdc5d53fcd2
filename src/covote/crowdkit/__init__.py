"""crowd-kit's names, arguments and shapes on covote's engine: change `crowdkit` to `covote.crowdkit` in the imports.

Classification, multi-label, metrics and post-processing are here. Pairwise comparisons, texts, segmentations,
embeddings, learning and data sets are not: importing them says so. Needs pandas.

>>> import pandas as pd
>>> from covote.crowdkit.aggregation import DawidSkene
>>> votes = pd.DataFrame({"task": [1, 1, 2, 2], "worker": ["a", "b", "a", "b"], "label": ["x", "x", "y", "y"]})
>>> DawidSkene(n_iter=10).fit_predict(votes).tolist()
['x', 'y']
"""

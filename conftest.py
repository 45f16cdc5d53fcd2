"""Modules that exist to say that something is absent cannot be imported, so their doctests are not looked for."""

collect_ignore = [
    f"src/covote/crowdkit/{name}.py"
    for name in (
        "aggregation/embeddings",
        "aggregation/image_segmentation",
        "aggregation/pairwise",
        "aggregation/texts",
        "datasets",
        "learning",
    )
]

def tables(data, rules):
    return []

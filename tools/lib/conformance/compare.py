
def compare(*a): return 0

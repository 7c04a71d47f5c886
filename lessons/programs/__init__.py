"""Programs and files of one's own: run one as it is, record code, find the first NaN, compare two, show tensors."""

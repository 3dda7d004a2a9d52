"""Readers against damaged and hostile files: a property for every run of the tests, and a long hunt by hand."""

"""What Sphinx reads or writes here is not for pytest: examples are run by tests/test_examples.py."""

collect_ignore_glob = ["conf.py", "gallery/*", "reference/*", "_build/*"]

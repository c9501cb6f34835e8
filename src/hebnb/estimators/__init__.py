"""What all classifiers share: learning from tables, and answering about rows."""

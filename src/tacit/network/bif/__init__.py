"""Files of Bayes nets: BIF and XMLBIF."""

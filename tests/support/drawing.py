"""What is written in pictures."""


def texts(ax):
    return [text.get_text() for text in ax.texts]


def ticks(axis):
    return [text.get_text() for text in axis.get_ticklabels()]

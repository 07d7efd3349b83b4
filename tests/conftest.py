"""What all tests share: how hypothesis runs, data sets, pictures in memory, and a cluster."""

from pathlib import Path

import pytest
from hypothesis import settings

# No deadline: the first example pays for imports, and a busy machine is no bug.
settings.register_profile("tacit", deadline=None)
settings.load_profile("tacit")


@pytest.fixture(scope="session")
def shared_data():
    """The folder of real data sets."""
    folder = Path(__file__).parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no data sets at {folder}")
    return folder


@pytest.fixture(scope="module")
def visits():
    from tacit.datasets import load_visits

    return load_visits()


@pytest.fixture(scope="session")
def write(tmp_path_factory):
    """Write a frame, a table or a model to a file of that name in a new folder."""

    def write_to(name, data):
        path = tmp_path_factory.mktemp("files") / name
        save = getattr(data, f"write_{path.suffix[1:]}", None) or data.save
        save(path)
        return path

    return write_to


@pytest.fixture
def draw_to_memory():
    """Draw with no window, and forget all pictures afterwards."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    before = mpl.get_backend()
    plt.switch_backend("Agg")
    yield
    plt.close("all")
    plt.switch_backend(before)


@pytest.fixture(scope="module")
def client():
    """A client of two worker processes."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as connected,
    ):
        yield connected

"""Files of saved models: what a loaded model must say, and how to damage a file."""

import numpy as np
import pytest

import tacit
from tacit import FileError, store


def assert_same_model(again, model, X):
    """Check that two models have the same answers and the same public face."""
    assert type(again) is type(model)
    for ask in ("predict", "predict_proba", "decision_function"):
        if hasattr(model, ask):
            answer, expected = getattr(again, ask)(X), getattr(model, ask)(X)
            np.testing.assert_array_equal(answer, expected)
            assert answer.dtype == expected.dtype
    assert again.get_params() == model.get_params()
    assert again.n_features_in_ == model.n_features_in_
    assert hasattr(again, "feature_names_in_") == hasattr(model, "feature_names_in_")
    assert again.to_text() == model.to_text()


def assert_same_arrays(path, other_path):
    """Check that two files hold the same kind of thing, and the same arrays."""
    kind, arrays = store.read_arrays(path)
    other_kind, others = store.read_arrays(other_path)
    assert (other_kind, set(others)) == (kind, set(arrays))
    for name, array in arrays.items():
        np.testing.assert_array_equal(others[name], array)


def change_array(path, name, change):
    """Change one array of a saved file, in place."""
    kind, arrays = store.read_arrays(path)
    arrays = {key: np.array(value) for key, value in arrays.items()}
    store.write_arrays(path, kind, arrays | {name: change(arrays[name])})


def assert_damage_is_an_error(path, n_changes):
    """Check that a file that is cut off or has a changed byte is refused, and by its name."""
    whole = path.read_bytes()
    for n in (0, 7, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:n])
        with pytest.raises(FileError) as caught:
            tacit.load(path)
        assert path.name in str(caught.value)
    start = 8 + int.from_bytes(whole[:8], "little")
    for at in np.random.default_rng(1).integers(start, len(whole), n_changes).tolist():
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :])
        with pytest.raises(FileError, match="checksum"):
            tacit.load(path)

// Lists of items, as Python has them: no kernel, since all that is to be done is to walk objects.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <vector>

#include "bindings/common.hpp"

namespace tacit::bindings {
namespace {

constexpr std::size_t kCheckEvery = 1 << 14;  // lists between looks at Ctrl-C

[[noreturn]] void fail() { throw nb::python_error(); }

// Numbers the texts of items by first appearance.
class ItemNumbers {
 public:
  // `stays`: whether the item is there as long as these numbers, so that its address tells it.
  std::uint32_t number(PyObject* item, bool stays) {
    if (PyUnicode_CheckExact(item)) {
      if (!stays) return of_text(item);
      Known& known = known_[(reinterpret_cast<std::uintptr_t>(item) >> 4) % kKnown];
      if (known.item != item) known = {item, of_text(item)};
      return known.number;
    }
    const nb::object text = nb::steal(PyObject_Str(item));
    if (!text.is_valid()) fail();
    return of_text(text.ptr());
  }
  // The texts in ascending order; ranks[k] becomes the position of the text numbered k.
  nb::list sorted(std::vector<std::uint32_t>& ranks) const {
    nb::list names = nb::steal<nb::list>(PyDict_Keys(numbers_.ptr()));
    if (PyList_Sort(names.ptr()) != 0) fail();
    ranks.resize(names.size());
    for (std::size_t r = 0; r < names.size(); ++r)
      ranks[number_of(PyList_GET_ITEM(names.ptr(), static_cast<Py_ssize_t>(r)))] =
          static_cast<std::uint32_t>(r);
    return names;
  }

 private:
  std::uint32_t of_text(PyObject* text) {
    if (PyObject* const number = PyDict_GetItemWithError(numbers_.ptr(), text))
      return static_cast<std::uint32_t>(PyLong_AsUnsignedLong(number));
    if (PyErr_Occurred()) fail();
    const std::size_t next = numbers_.size();
    const nb::object number = nb::steal(PyLong_FromSize_t(next));
    if (PyDict_SetItem(numbers_.ptr(), text, number.ptr()) != 0) fail();
    return static_cast<std::uint32_t>(next);
  }
  std::uint32_t number_of(PyObject* text) const {
    return static_cast<std::uint32_t>(
        PyLong_AsUnsignedLong(PyDict_GetItemWithError(numbers_.ptr(), text)));
  }

  static constexpr std::size_t kKnown = 1 << 13;
  struct Known {
    PyObject* item = nullptr;
    std::uint32_t number = 0;
  };
  std::vector<Known> known_ = std::vector<Known>(kKnown);  // objects seen of late
  nb::dict numbers_;
};

// A list or tuple of what a collection holds; not valid if it is text, or no collection.
nb::object listed(PyObject* items) {
  if (PyList_Check(items) || PyTuple_Check(items)) return nb::borrow(items);
  if (PyUnicode_Check(items)) return {};
  const nb::object walk = nb::steal(PyObject_GetIter(items));
  if (!walk.is_valid()) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) fail();
    PyErr_Clear();
    return {};
  }
  nb::object list = nb::steal(PySequence_List(walk.ptr()));
  if (!list.is_valid()) fail();
  return list;
}

nb::object bind_encode_baskets(const nb::list& baskets) {
  ItemNumbers numbers;
  std::vector<std::uint32_t> values;
  Buffer<std::int64_t> indptr(baskets.size() + 1);
  indptr[0] = 0;
  std::vector<std::uint32_t> seen;  // the last basket that held an item, plus 1
  for (std::size_t b = 0; b < baskets.size(); ++b) {
    if (b % kCheckEvery == 0 && PyErr_CheckSignals() != 0) fail();
    PyObject* const basket = PyList_GET_ITEM(baskets.ptr(), static_cast<Py_ssize_t>(b));
    const nb::object items = listed(basket);
    if (!items.is_valid()) return nb::int_(b);
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(items.ptr()); ++k) {
      const std::uint32_t number =
          numbers.number(PySequence_Fast_GET_ITEM(items.ptr(), k), items.ptr() == basket);
      if (number >= seen.size()) seen.resize(number + 1);
      if (seen[number] == b + 1) continue;
      seen[number] = static_cast<std::uint32_t>(b) + 1;
      values.push_back(number);
    }
    indptr[b + 1] = static_cast<std::int64_t>(values.size());
  }
  std::vector<std::uint32_t> ranks;
  nb::list names = numbers.sorted(ranks);
  Buffer<std::uint32_t> ids(values.size());
  std::transform(values.begin(), values.end(), ids.begin(), [&](auto v) { return ranks[v]; });
  for (std::size_t b = 0; b < baskets.size(); ++b)
    std::sort(ids.data() + indptr[b], ids.data() + indptr[b + 1]);
  return nb::make_tuple(std::move(names), to_numpy(std::move(indptr), {baskets.size() + 1}),
                        to_numpy(std::move(ids), {values.size()}));
}

nb::object bind_only_text(const nb::list& baskets) {
  bool differ = false;
  Py_ssize_t first = -1;
  for (std::size_t b = 0; b < baskets.size(); ++b) {
    PyObject* const basket = PyList_GET_ITEM(baskets.ptr(), static_cast<Py_ssize_t>(b));
    if (!PyList_Check(basket) && !PyTuple_Check(basket) && !PyAnySet_Check(basket))
      return nb::none();
    const nb::object items = listed(basket);
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(items.ptr());
    for (Py_ssize_t k = 0; k < n; ++k)
      if (!PyUnicode_Check(PySequence_Fast_GET_ITEM(items.ptr(), k))) return nb::none();
    differ = differ || (first >= 0 && n != first);
    first = n;
  }
  return nb::bool_(differ);
}

}  // namespace

void register_baskets(nb::module_& m) {
  m.def("encode_baskets", &bind_encode_baskets, nb::arg("baskets"),
        nb::sig("def encode_baskets(baskets: list[Any]) -> Any"),
        "The texts of items, sorted, and where each basket's begin, and positions among them, each "
        "once and ascending; the number of a basket that is no collection of items, if there is "
        "one.");
  m.def("only_text", &bind_only_text, nb::arg("baskets"),
        nb::sig("def only_text(baskets: list[Any]) -> bool | None"),
        "Whether lists, tuples or sets of text differ in length; None if they hold, or are, "
        "something else.");
}

}  // namespace tacit::bindings

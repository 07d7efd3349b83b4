#include "table/encode.hpp"

#include <nanobind/stl/pair.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "bindings/common.hpp"

// The Arrow C stream interface: these layouts are fixed by the Arrow specification.
extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}

namespace tacit::bindings {
namespace {

template <class T>
struct Release {
  void operator()(T* p) const {
    if (p->release) p->release(p);
    delete p;
  }
};
template <class T>
using Owned = std::unique_ptr<T, Release<T>>;

// A column on its way to codes: string views out of an Arrow stream, or 64-bit keys.
struct Source {
  std::vector<Owned<ArrowArray>> chunks;
  std::vector<StringViews> views;
  std::vector<Keys> keys;
  std::int64_t length = 0;
  bool is_text = false;
};

void read_stream(const nb::capsule& capsule, Source& source) {
  auto* stream = static_cast<ArrowArrayStream*>(capsule.data("arrow_array_stream"));
  Owned<ArrowSchema> schema(new ArrowSchema{});
  if (stream->get_schema(stream, schema.get()) != 0)
    throw std::runtime_error("the Arrow stream has no schema");
  if (std::string_view(schema->format) != "vu")
    throw nb::type_error("the Arrow stream does not hold string views");
  for (;;) {
    Owned<ArrowArray> chunk(new ArrowArray{});
    if (stream->get_next(stream, chunk.get()) != 0)
      throw std::runtime_error("the Arrow stream broke off");
    if (!chunk->release) break;
    const bool any_missing = chunk->null_count != 0 && chunk->buffers[0];
    source.views.push_back(
        {static_cast<const std::uint8_t*>(chunk->buffers[1]),
         any_missing ? static_cast<const std::uint8_t*>(chunk->buffers[0]) : nullptr,
         chunk->buffers + 2, chunk->n_buffers - 3, chunk->offset, chunk->length});
    source.length += chunk->length;
    source.chunks.push_back(std::move(chunk));
  }
}

void read_keys(nb::handle column, Source& source) {
  if (nb::isinstance<nb::list>(column)) {
    for (nb::handle chunk : nb::borrow<nb::list>(column)) read_keys(chunk, source);
    return;
  }
  // Without conversion: a converted copy would be gone before the kernel reads it.
  const auto [keys, valid] =
      nb::cast<std::pair<In<std::int64_t>, std::optional<In<std::uint8_t>>>>(column, false);
  const auto length = static_cast<std::int64_t>(keys.size());
  source.keys.push_back({keys.data(), valid ? valid->data() : nullptr, length});
  source.length += length;
}

nb::list bind_encode_columns(const nb::list& columns, int n_jobs) {
  std::vector<Source> sources(columns.size());
  std::vector<nb::object> keep;  // what the keys point into
  for (std::size_t c = 0; c < sources.size(); ++c) {
    Source& source = sources[c];
    if (nb::isinstance<nb::capsule>(columns[c])) {
      source.is_text = true;
      read_stream(nb::cast<nb::capsule>(columns[c]), source);
      continue;
    }
    read_keys(columns[c], source);
    keep.emplace_back(columns[c]);
  }
  std::vector<Buffer<std::uint32_t>> codes;
  std::vector<Encoding> encodings(sources.size());
  for (std::size_t c = 0; c < sources.size(); ++c) {
    codes.emplace_back(static_cast<std::size_t>(sources[c].length));
    encodings[c].codes = codes[c].data();
  }
  run([&] {
    for_blocks(static_cast<std::int64_t>(sources.size()), n_jobs, signal_pending,
               [&](std::int64_t block, StopToken& token) {
                 const auto c = static_cast<std::size_t>(block);
                 if (sources[c].is_text)
                   encode_strings(sources[c].views, encodings[c], token);
                 else
                   encode_keys(sources[c].keys, encodings[c], token);
               });
  });
  const auto copy = [](const std::vector<std::int64_t>& from) {
    Buffer<std::int64_t> buffer(from.size());
    std::copy(from.begin(), from.end(), buffer.data());
    return to_numpy(std::move(buffer), {from.size()});
  };
  nb::list result;
  for (std::size_t c = 0; c < sources.size(); ++c)
    result.append(
        nb::make_tuple(to_numpy(std::move(codes[c]), {static_cast<std::size_t>(sources[c].length)}),
                       copy(encodings[c].first), copy(encodings[c].counts), encodings[c].missing));
  return result;
}

}  // namespace

void register_encode(nb::module_& m) {
  m.def("encode_columns", bind_encode_columns, nb::arg("columns"), nb::arg("n_jobs"),
        nb::sig("def encode_columns(columns: list[object], n_jobs: int) "
                "-> list[tuple[Codes, Ints, Ints, int]]"),
        "Number the distinct values of each column in order of appearance. A column is an Arrow\n"
        "stream of string views, or int64 keys with validity bytes or None, or a list of such "
        "chunks.\n"
        "Returns for each its codes, where each code appears first, how often, and the code of "
        "missing values or -1.");
}

}  // namespace tacit::bindings

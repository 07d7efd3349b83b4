// How kernels see a table: for each record the sorted ids of its stored values.
//
// A value id stands for one (column, non-default code) pair. Ids are consecutive within a column
// and columns follow each other, so a binary table's value ids are its column numbers, a record
// holds at most one id of each column, and no kernel needs to know about columns at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

// M(V) for each type of value ids.
#define TACIT_FOR_VALUE_TYPES(M) M(std::uint16_t) M(std::uint32_t)

namespace tacit {

template <class V>
struct Records {
  const std::int64_t* indptr;  // n_records + 1 offsets into values
  const V* values;             // value ids, strictly ascending within a record
  std::int64_t n_records;
  std::int64_t n_values;       // ids are in [0, n_values)
  const std::int64_t* chosen;  // records to read, or null for all of them
  std::int64_t n_chosen;
  const double* weights;  // one for each of the n_records, or null where each counts 1

  std::int64_t size() const { return chosen ? n_chosen : n_records; }
  std::int64_t record(std::int64_t k) const { return chosen ? chosen[k] : k; }
  const V* begin(std::int64_t r) const { return values + indptr[r]; }
  const V* end(std::int64_t r) const { return values + indptr[r + 1]; }
};

// An array that is not initialised: results are written once, in full. Large ones ask for huge
// pages, which makes first touching them several times cheaper.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t size);
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  T* release() { return data_.release(); }  // the caller frees it with free_buffer()

 private:
  struct Free {
    void operator()(T* p) const;
  };
  std::unique_ptr<T[], Free> data_;
  std::size_t size_ = 0;
};

void* allocate_buffer(std::size_t bytes);  // throws std::bad_alloc
void free_buffer(void* p) noexcept;

template <class T>
Buffer<T>::Buffer(std::size_t size) : size_(size) {
  if (size > static_cast<std::size_t>(-1) / 2 / sizeof(T)) throw std::bad_alloc();
  data_.reset(static_cast<T*>(allocate_buffer(size * sizeof(T))));
}
template <class T>
void Buffer<T>::Free::operator()(T* p) const {
  free_buffer(p);
}

}  // namespace tacit

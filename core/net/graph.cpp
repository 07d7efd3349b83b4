#include "net/graph.hpp"

#include <algorithm>
#include <stdexcept>

namespace tacit {

NetGraph::NetGraph(std::vector<Parents> parents)
    : parents_(std::move(parents)), words_((parents_.size() + 63) / 64) {
  for (Parents& each : parents_) std::sort(each.begin(), each.end());
  find_ways();
}

bool NetGraph::has(int from, int to) const {
  return std::binary_search(parents(to).begin(), parents(to).end(), from);
}

void NetGraph::find_ways() {
  const std::size_t n = parents_.size();
  reach_.assign(n * words_, 0);
  std::vector<std::vector<int>> children(n);
  std::vector<std::size_t> waiting(n);
  for (std::size_t x = 0; x < n; ++x)
    for (const int p : parents_[x]) {
      children[static_cast<std::size_t>(p)].push_back(static_cast<int>(x));
      ++waiting[static_cast<std::size_t>(p)];
    }
  // From the columns without children backwards.
  std::vector<std::size_t> ready;
  for (std::size_t x = 0; x < n; ++x)
    if (!waiting[x]) ready.push_back(x);
  for (std::size_t k = 0; k < ready.size(); ++k) {
    const std::size_t x = ready[k];
    std::uint64_t* reachable = reach_.data() + x * words_;
    reachable[x / 64] |= std::uint64_t{1} << (x % 64);
    for (const int c : children[x])
      for (std::size_t w = 0; w < words_; ++w) reachable[w] |= reach_[row(c) + w];
    for (const int p : parents_[x])
      if (--waiting[static_cast<std::size_t>(p)] == 0) ready.push_back(static_cast<std::size_t>(p));
  }
  if (ready.size() != n) throw std::invalid_argument("the arcs form a cycle");
}

bool NetGraph::can_turn(int from, int to) const {
  for (int x = 0; x < size(); ++x)
    if (x != to && reaches(x, to) && has(from, x)) return false;
  return true;
}

bool NetGraph::is_covered(int from, int to) const {
  const Parents& inner = parents(from);
  const Parents& outer = parents(to);
  if (outer.size() != inner.size() + 1) return false;
  std::size_t k = 0;
  for (const int p : outer) {
    if (p == from) continue;
    if (k == inner.size() || inner[k] != p) return false;
    ++k;
  }
  return true;
}

void NetGraph::add(int from, int to) {
  Parents& parents = parents_[static_cast<std::size_t>(to)];
  parents.insert(std::lower_bound(parents.begin(), parents.end(), from), from);
  find_ways();
}

void NetGraph::remove(int from, int to) {
  Parents& parents = parents_[static_cast<std::size_t>(to)];
  parents.erase(std::lower_bound(parents.begin(), parents.end(), from));
  find_ways();
}

void NetGraph::turn(int from, int to) {
  Parents& parents = parents_[static_cast<std::size_t>(to)];
  parents.erase(std::lower_bound(parents.begin(), parents.end(), from));
  add(to, from);
}

std::vector<Parents> NetGraph::swapped(int a, int b) const {
  std::vector<Parents> result = parents_;
  std::swap(result[static_cast<std::size_t>(a)], result[static_cast<std::size_t>(b)]);
  for (Parents& each : result) {
    for (int& p : each) p = p == a ? b : p == b ? a : p;
    std::sort(each.begin(), each.end());
  }
  return result;
}

}  // namespace tacit

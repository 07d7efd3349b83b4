#include "bindings/common.hpp"

namespace tacit::bindings {

bool signal_pending() {
  const nb::gil_scoped_acquire acquire;
  return PyErr_CheckSignals() != 0;
}

}  // namespace tacit::bindings

NB_MODULE(_core, m) {
  // What a program still holds when it ends is no leak, and its user can do nothing about it.
  nb::set_leak_warnings(false);
  m.doc() = "tacit's kernels. Arguments are trusted: tacit.table checks them first.";
  tacit::bindings::register_check(m);
  tacit::bindings::register_records(m);
  tacit::bindings::register_arrange(m);
  tacit::bindings::register_encode(m);
  tacit::bindings::register_baskets(m);
  tacit::bindings::register_log(m);
  tacit::bindings::register_counts(m);
  tacit::bindings::register_engines(m);
  tacit::bindings::register_rules(m);
  tacit::bindings::register_rule_coding(m);
  tacit::bindings::register_rule_scores(m);
  tacit::bindings::register_information(m);
  tacit::bindings::register_mixture(m);
  tacit::bindings::register_tree_mixture(m);
  tacit::bindings::register_kmeans(m);
  tacit::bindings::register_recommend(m);
  tacit::bindings::register_tree_walk(m);
  tacit::bindings::register_tree(m);
  tacit::bindings::register_leaves(m);
  tacit::bindings::register_net(m);
  tacit::bindings::register_chow_liu(m);
  tacit::bindings::register_dependency_tree(m);
  tacit::bindings::register_junction(m);
  tacit::bindings::register_smo(m);
  tacit::bindings::register_max_flow(m);
  tacit::bindings::register_near_neighbours(m);
  tacit::bindings::register_near_graph(m);
  tacit::bindings::register_set_neighbours(m);
  tacit::bindings::register_reach_tree(m);
  tacit::bindings::register_graph_merges(m);
  tacit::bindings::register_numbers(m);
  tacit::bindings::register_block_grid(m);
  tacit::bindings::register_block_pairs(m);
  tacit::bindings::register_boost(m);
  tacit::bindings::register_cover_rules(m);
  tacit::bindings::register_itemsets(m);
  tacit::bindings::register_significant(m);
}

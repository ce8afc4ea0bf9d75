//! What depends on what, by place: cycles and a stable order.
//!
//! It knows places (0, 1, 2 …) only, never the things that stand there.

use std::collections::BTreeSet;

use petgraph::Direction;
use petgraph::algo::{astar, tarjan_scc};
use petgraph::graph::{DiGraph, NodeIndex};

/// A dependency graph over the places `0..size`.
pub(crate) struct Dependencies {
    graph: DiGraph<(), ()>,
}

impl Dependencies {
    /// `needs` holds, for each place in turn, the places it depends on. Places outside the list are
    /// left out.
    pub(crate) fn new(needs: &[Vec<usize>]) -> Dependencies {
        let mut graph = DiGraph::new();
        for _ in needs {
            graph.add_node(());
        }
        for (place, needed) in needs.iter().enumerate() {
            for &before in needed.iter().filter(|&&before| before < needs.len()) {
                graph.update_edge(NodeIndex::new(before), NodeIndex::new(place), ());
            }
        }
        Dependencies { graph }
    }

    /// One shortest cycle for each knot of places that wait for each other, the knot's first place
    /// first and each place followed by the one it depends on. Empty when there is an order.
    pub(crate) fn cycles(&self) -> Vec<Vec<usize>> {
        let mut cycles: Vec<Vec<usize>> = tarjan_scc(&self.graph)
            .into_iter()
            .filter_map(|knot| self.shortest_cycle(knot.into_iter().min()?))
            .collect();
        cycles.sort();
        cycles
    }

    fn shortest_cycle(&self, start: NodeIndex) -> Option<Vec<usize>> {
        self.graph
            .neighbors_directed(start, Direction::Outgoing)
            .filter_map(|next| astar(&self.graph, next, |at| at == start, |_| 1_u32, |_| 0))
            .min_by_key(|(length, path)| (*length, path.clone()))
            .map(|(_, path)| path.into_iter().rev().map(NodeIndex::index).collect())
    }

    /// All places, each after what it depends on; among those that are free, the lowest first. Places
    /// on or behind a cycle are missing.
    pub(crate) fn order(&self) -> Vec<usize> {
        let mut waiting: Vec<usize> = self
            .graph
            .node_indices()
            .map(|place| self.graph.neighbors_directed(place, Direction::Incoming).count())
            .collect();
        let mut free: BTreeSet<usize> = (0..waiting.len())
            .filter(|&place| waiting.get(place) == Some(&0))
            .collect();
        let mut order = Vec::with_capacity(waiting.len());
        while let Some(place) = free.pop_first() {
            order.push(place);
            for after in self
                .graph
                .neighbors_directed(NodeIndex::new(place), Direction::Outgoing)
            {
                if let Some(count) = waiting.get_mut(after.index()) {
                    *count -= 1;
                    if *count == 0 {
                        free.insert(after.index());
                    }
                }
            }
        }
        order
    }

    /// Whether each place depends, directly or not, on the one before it in the order: then no two can
    /// ever be worked on at the same moment.
    pub(crate) fn is_chain(&self) -> bool {
        // Two neighbours in an order have no place between them, so only an edge can join them.
        self.order().windows(2).all(|pair| {
            matches!(pair, [before, after]
                if self.graph.contains_edge(NodeIndex::new(*before), NodeIndex::new(*after)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(needs: &[&[usize]]) -> Dependencies {
        Dependencies::new(&needs.iter().map(|needed| needed.to_vec()).collect::<Vec<_>>())
    }

    #[test]
    fn the_order_follows_dependencies_and_then_places() {
        assert_eq!(graph(&[&[], &[], &[]]).order(), [0, 1, 2]);
        assert_eq!(graph(&[&[2], &[], &[1]]).order(), [1, 2, 0]);
        assert_eq!(graph(&[&[3], &[], &[], &[]]).order(), [1, 2, 3, 0]);
        assert_eq!(graph(&[&[1, 1], &[]]).order(), [1, 0]);
        assert_eq!(graph(&[&[1], &[0], &[], &[1]]).order(), [2]);
    }

    #[test]
    fn every_knot_names_its_shortest_cycle() {
        assert!(graph(&[&[], &[0], &[0, 1]]).cycles().is_empty());
        assert_eq!(graph(&[&[1], &[0]]).cycles(), [vec![0, 1]]);
        assert_eq!(graph(&[&[2], &[0], &[1]]).cycles(), [vec![0, 2, 1]]);
        assert_eq!(
            graph(&[&[1], &[0, 2], &[0], &[4], &[3]]).cycles(),
            [vec![0, 1], vec![3, 4]]
        );
        assert_eq!(graph(&[&[0]]).cycles(), [vec![0]]);
    }

    #[test]
    fn a_chain_leaves_no_choice() {
        assert!(graph(&[]).is_chain());
        assert!(graph(&[&[]]).is_chain());
        assert!(graph(&[&[1], &[2], &[]]).is_chain());
        assert!(graph(&[&[], &[0], &[0, 1]]).is_chain());
        assert!(!graph(&[&[], &[]]).is_chain());
        assert!(!graph(&[&[], &[0], &[0], &[1, 2]]).is_chain());
    }
}

//! The review of changes that agents propose, before they count.
//!
//! A [`ReviewPolicy`] states which agents write directly and which propose. The view of an agent applies it
//! ([`crate::Services::restrict_to`]), so that no tool can bypass it: a proposed change becomes a memory in the inbox with
//! [`crate::Memory::proposal`]. Filters exclude it, names and links do not find it, and it does not age. A person accepts,
//! edits, merges or rejects it.

pub(crate) mod decide;
mod neighbour;
mod policy;
mod proposals;
mod rejections;
mod subject;

pub use decide::{
    AcceptOptions, AcceptResult, Acceptance, StaleProposals, accept, edit_proposal, reject,
};
pub use neighbour::{Neighbour, NeighbourFinder, NeighbourRelation};
pub use policy::{ReviewPolicy, ReviewRule, ScopePattern, WritePolicy};
pub use proposals::{
    AcceptancePreview, LONG_WAIT, ProposalSummary, SubmittedProposal, SubmittedProposals,
    WaitingProposal, preview_acceptance, proposal, proposal_summary, proposals,
};
pub use subject::{OperationSubject, ProposalEnd, operation_subject, proposal_end};

pub(crate) use rejections::is_rejected;

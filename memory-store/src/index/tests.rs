//! Tests of the index, on a real disk.

mod changed;
mod damage;
mod home;
mod near;
mod outside;
mod parts;
mod pending;
mod questions;
mod roles;

//! Tests of the web page in a real browser.

mod attacks;
mod browser;
mod home;
mod http_client;
mod inbox_journeys;
mod journeys;
mod pages;
mod phone;
mod section_journeys;
mod team;
mod transfer;

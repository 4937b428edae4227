//! Tests of the web page in a real browser.

mod attacks;
mod browser;
mod home;
mod http_client;
mod journeys;
mod pages;
mod phone;
mod transfer;

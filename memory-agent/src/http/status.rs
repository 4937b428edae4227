//! Maps error codes to HTTP status codes.

use axum::http::StatusCode;
use memory_core::{Code, Fault};

/// Returns the HTTP status for an error code.
pub(crate) fn status(code: Code) -> StatusCode {
    match code {
        Code::Unauthorized => StatusCode::UNAUTHORIZED,
        Code::MethodRefused => StatusCode::METHOD_NOT_ALLOWED,
        Code::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
        Code::LimitExceeded => StatusCode::PAYLOAD_TOO_LARGE,
        Code::Forbidden
        | Code::PathRefused
        | Code::ScopeRefused
        | Code::ProposalRejected
        | Code::CallBlocked => StatusCode::FORBIDDEN,
        Code::Locked | Code::BudgetExhausted | Code::Overloaded | Code::DatabaseUnreachable => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        Code::ModelFailed | Code::ModelRefused | Code::ModelUnreadable => StatusCode::BAD_GATEWAY,
        Code::ModelTimeout | Code::FilterTimeout | Code::FilterMemory | Code::DatabaseTimeout => {
            StatusCode::GATEWAY_TIMEOUT
        }
        Code::DiskFull => StatusCode::INSUFFICIENT_STORAGE,
        code => match code.fault() {
            Fault::Caller => StatusCode::BAD_REQUEST,
            Fault::Missing => StatusCode::NOT_FOUND,
            Fault::Conflict => StatusCode::CONFLICT,
            Fault::Damaged | Fault::Machine => StatusCode::INTERNAL_SERVER_ERROR,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_permanent() {
        let numbers: Vec<_> = Code::ALL
            .iter()
            .map(|code| format!("{} {}", status(*code).as_u16(), code))
            .collect();
        insta::assert_snapshot!(numbers.join("\n"), @"
        404 MEMORY_NOT_FOUND
        400 MEMORY_AMBIGUOUS
        404 OPERATION_NOT_FOUND
        404 TRASH_NOT_FOUND
        404 PATH_NOT_FOUND
        409 CONFLICT
        503 LOCKED
        409 DAEMON_RUNNING
        500 NEWER_FORMAT
        500 WRONG_CLOCK
        400 INVALID_INPUT
        400 SECRET_FOUND
        500 FILE_DAMAGED
        500 FILE_TOO_LARGE
        403 PATH_REFUSED
        403 SCOPE_REFUSED
        403 PROPOSAL_REJECTED
        400 CONFIG_INVALID
        500 CHECK_FAILED
        502 MODEL_FAILED
        502 MODEL_REFUSED
        504 MODEL_TIMEOUT
        502 MODEL_UNREADABLE
        503 BUDGET_EXHAUSTED
        500 NOTIFY_FAILED
        404 TOOL_NOT_FOUND
        500 CALL_FAILED
        403 CALL_BLOCKED
        500 HOOK_FAILED
        404 BANK_NOT_FOUND
        404 KEY_NOT_FOUND
        404 TTL_EXPIRED
        409 KEY_EXISTS
        400 INVALID_BANK_NAME
        400 INVALID_KEY
        400 INVALID_JSON
        413 LIMIT_EXCEEDED
        500 PERMISSION_DENIED
        400 FILTER_ERROR
        504 FILTER_TIMEOUT
        504 FILTER_MEMORY
        400 INVALID_SCHEMA
        400 SCHEMA_VIOLATION
        404 BACKEND_NOT_FOUND
        404 INSTANCE_NOT_FOUND
        404 ACTION_NOT_FOUND
        404 SESSION_NOT_FOUND
        404 CONVERSATION_NOT_FOUND
        500 SEAL_BROKEN
        401 UNAUTHORIZED
        403 FORBIDDEN
        404 ROUTE_NOT_FOUND
        405 METHOD_REFUSED
        408 REQUEST_TIMEOUT
        503 OVERLOADED
        503 DATABASE_UNREACHABLE
        504 DATABASE_TIMEOUT
        507 DISK_FULL
        500 IO
        500 INTERNAL
        ");
    }
}

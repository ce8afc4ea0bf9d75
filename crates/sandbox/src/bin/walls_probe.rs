//! The smallest program that can be re-entered as the first one inside the walls. The tests of this
//! room use it in the place of the product's binary; it does nothing of its own.

fn main() -> std::process::ExitCode {
    stance_sandbox::enter_if_asked();
    std::process::ExitCode::FAILURE
}

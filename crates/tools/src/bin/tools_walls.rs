//! The program that the tests of this room re-enter as the first one inside the walls, in the place
//! of the product's binary.

fn main() -> std::process::ExitCode {
    sandbox::enter_if_asked();
    stance_tools::outline_if_asked();
    std::process::ExitCode::FAILURE
}

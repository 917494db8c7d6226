//! Every word that begins with `/`, by each of its names: what it does is seen from outside.

mod around;
mod elsewhere;
mod out;
mod places;
mod this;

/// A scenario for each command; it is run once for each of its names.
macro_rules! commands {
    ($($module:ident::$scenario:ident $names:expr;)*) => {
        /// The commands that have a scenario.
        const NAMES: &[&[&str]] = &[$(&$names),*];

        $(
            #[test]
            fn $scenario() {
                for name in $names {
                    $module::$scenario(&format!("/{name}"));
                }
            }
        )*
    };
}

commands! {
    places::tree_opens_the_tree ["tree"];
    places::branch_goes_back_to_a_message ["branch", "rewind"];
    places::fork_begins_a_session_anew ["fork"];
    places::clone_goes_on_in_a_copy ["clone"];
    places::transcript_shows_all ["transcript"];
    places::clear_begins_the_context_anew ["clear"];
    places::retry_asks_again ["retry"];
    elsewhere::resume_opens_another_session ["resume", "sessions"];
    elsewhere::new_begins_a_session ["new"];
    elsewhere::drop_puts_it_into_the_trash ["drop", "delete"];
    elsewhere::move_goes_to_another_directory ["move"];
    elsewhere::handoff_begins_with_a_brief ["handoff"];
    elsewhere::import_opens_a_copy ["import"];
    this::name_names_it ["name"];
    this::rename_lets_the_model_find_a_name ["rename"];
    this::label_labels_where_one_is ["label"];
    this::session_says_what_it_is ["session"];
    this::context_says_what_fills_it ["context"];
    this::compact_makes_it_shorter ["compact"];
    this::model_chooses_the_model ["model"];
    this::thinking_chooses_the_level ["thinking"];
    this::btw_keeps_nothing ["btw"];
    out::copy_copies ["copy"];
    out::dump_copies_the_path ["dump"];
    out::export_writes_files ["export"];
    around::help_says_what_there_is ["help"];
    around::hotkeys_shows_keys ["hotkeys", "keys"];
    around::settings_are_shown ["settings"];
    around::reload_reads_again ["reload"];
    around::changelog_says_which_version ["changelog"];
    around::quit_leaves ["quit", "exit"];
}

#[test]
fn every_command_has_a_scenario() {
    let sorted = |names: Vec<&[&'static str]>| {
        let mut names: Vec<&str> = names.into_iter().flatten().copied().collect();
        names.sort_unstable();
        names
    };
    assert_eq!(sorted(NAMES.to_vec()), sorted(ramal_tui::app::command_names().collect()));
}

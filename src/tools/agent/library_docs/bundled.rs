//! The bundled libraries and their texts.

/// A bundled library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Library {
    /// The id.
    pub id: &'static str,
    /// Alternative names.
    pub aliases: &'static [&'static str],
    /// The title, for people.
    pub title: &'static str,
    /// A short description.
    pub description: &'static str,
    /// The text in Markdown, in sections that begin with `## `.
    pub text: &'static str,
}

/// All bundled libraries.
pub(crate) const LIBRARIES: [Library; 5] = [
    Library {
        id: "playwright",
        aliases: &["playwright-java", "microsoft/playwright", "pw"],
        title: "Playwright",
        description: "Browser automation and end-to-end tests (Java, with TypeScript beside it)",
        text: include_str!("texts/playwright.md"),
    },
    Library {
        id: "selenium",
        aliases: &["selenium-java", "seleniumhq", "webdriver"],
        title: "Selenium WebDriver",
        description: "Browser automation through WebDriver (Java)",
        text: include_str!("texts/selenium.md"),
    },
    Library {
        id: "cucumber",
        aliases: &["cucumber-java", "cucumber-jvm", "cucumber-junit"],
        title: "Cucumber-JVM",
        description: "Executable specifications: step definitions, hooks, running (Java)",
        text: include_str!("texts/cucumber.md"),
    },
    Library {
        id: "gherkin",
        aliases: &["feature-file", "bdd", "given-when-then"],
        title: "Gherkin",
        description: "The language of feature files",
        text: include_str!("texts/gherkin.md"),
    },
    Library {
        id: "java",
        aliases: &["java-se", "jdk", "java-api", "java-lang"],
        title: "Java SE",
        description: "The language and its standard library",
        text: include_str!("texts/java.md"),
    },
];

/// The library that `name` means: its id or an alias, in any case, also as `/id`.
pub(crate) fn resolve(name: &str) -> Option<&'static Library> {
    let name = name.trim().trim_start_matches('/').to_lowercase();
    LIBRARIES.iter().find(|library| library.id == name || library.aliases.contains(&name.as_str()))
}

/// The ids as a list: "playwright, selenium, …".
pub(crate) fn ids() -> String {
    LIBRARIES.map(|library| library.id).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn library_alias_resolves_to_its_library() {
        for library in &LIBRARIES {
            for name in library.aliases.iter().chain([&library.id]) {
                assert_eq!(resolve(&name.to_uppercase()).map(|found| found.id), Some(library.id), "{name}");
            }
        }
        assert_eq!(resolve("/microsoft/playwright").map(|found| found.id), Some("playwright"));
        assert_eq!(resolve("react"), None);
    }

    #[test]
    fn bundled_library_text_has_enough_sections_and_size() {
        for library in &LIBRARIES {
            let sections = library.text.matches("\n## ").count();
            assert!(sections >= 6, "{} has {sections} sections", library.id);
            assert!(
                (4_500..14_000).contains(&library.text.len()),
                "{} has {} bytes",
                library.id,
                library.text.len()
            );
        }
    }
}

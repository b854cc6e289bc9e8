//! The mesh builder's flags: their help, the settings they make, and errors in their terms.

use clap::{Args, ValueEnum};
use throng::parts::build::voxel::plan::TilePlan;
use throng::{ArgumentError, NavSettings, PartitionType};

use super::values::{number, whole};

/// Settings of the mesh builder. A baked file brings its own.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Navigation mesh settings")]
pub(crate) struct SettingsArgs {
    /// Agent class the other settings start from [default: humanoid]
    #[arg(long, value_enum, value_name = "CLASS")]
    preset: Option<Preset>,
    /// One tile for the whole level
    #[arg(long)]
    pub(crate) solo: bool,
    #[arg(long, value_name = "UNITS", value_parser = number, allow_negative_numbers = true,
        help = with_defaults("Agent radius", |s| s.agent_radius))]
    radius: Option<f64>,
    #[arg(long, value_name = "UNITS", value_parser = number, allow_negative_numbers = true,
        help = with_defaults("Agent height", |s| s.agent_height))]
    height: Option<f64>,
    #[arg(long, value_name = "UNITS", value_parser = number, allow_negative_numbers = true,
        help = with_defaults("Highest step climbed", |s| s.walkable_climb))]
    climb: Option<f64>,
    #[arg(long, value_name = "DEGREES", value_parser = number, allow_negative_numbers = true,
        help = with_defaults("Steepest walkable slope", |s| s.agent_max_slope_degrees))]
    slope: Option<f64>,
    #[arg(long, value_name = "UNITS", value_parser = number, allow_negative_numbers = true,
        help = with_defaults("Width of a voxel", |s| s.cell_size))]
    cell: Option<f64>,
    #[arg(long, value_name = "UNITS", value_parser = number, allow_negative_numbers = true,
        help = with_defaults("Height of a voxel", |s| s.cell_height))]
    cell_height: Option<f64>,
    #[arg(long, value_name = "UNITS", value_parser = number, allow_negative_numbers = true,
        conflicts_with = "solo", help = with_defaults("Width of a tile", |s| s.tile_size))]
    tile: Option<f64>,
    /// How cells are grouped into regions [default: watershed]
    #[arg(long, value_enum, value_name = "KIND")]
    partition: Option<Partition>,
    #[arg(long, value_name = "UNITS", value_parser = number, allow_negative_numbers = true,
        help = with_defaults("Longest wall edge before it is split, 0 for never", |s| s.max_edge_length))]
    max_edge: Option<f64>,
    #[arg(long, value_name = "CELLS", value_parser = number, allow_negative_numbers = true,
        help = with_defaults("How far an outline may stray from its cells", |s| s.contour_max_error))]
    contour_error: Option<f64>,
    #[arg(long, value_name = "UNITS", value_parser = number, allow_negative_numbers = true,
        help = with_defaults("Spacing of height samples, 0 for none", |s| s.detail_sample_distance))]
    detail_distance: Option<f64>,
    #[arg(long, value_name = "UNITS", value_parser = number, allow_negative_numbers = true,
        help = with_defaults("Largest height error at a sample", |s| s.detail_max_error))]
    detail_error: Option<f64>,
    #[arg(long, value_name = "CELLS", value_parser = whole(0, MOST_CELLS), allow_negative_numbers = true,
        help = with_defaults("Smaller regions without neighbours are dropped", |s| f64::from(s.min_region_area)))]
    min_region: Option<i32>,
    #[arg(long, value_name = "CELLS", value_parser = whole(0, MOST_CELLS), allow_negative_numbers = true,
        help = with_defaults("Smaller regions join a neighbour", |s| f64::from(s.merge_region_area)))]
    merge_region: Option<i32>,
}

/// Largest region size the builder takes.
const MOST_CELLS: i32 = 1 << 24;

/// Agent classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Preset {
    /// A person
    Humanoid,
    /// A small creature
    Small,
    /// A vehicle or giant
    Large,
}

/// Region partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Partition {
    /// Few, well-shaped regions
    Watershed,
    /// Fast row sweeps
    Monotone,
    /// One region per height layer
    Layers,
}

/// A flag's help with what each class has when the flag is left out.
fn with_defaults(help: &str, field: fn(&NavSettings) -> f64) -> String {
    let classes = [
        NavSettings::HUMANOID,
        NavSettings::SMALL,
        NavSettings::LARGE,
    ];
    let [humanoid, small, large] = classes.each_ref().map(field);
    if humanoid == small && humanoid == large {
        format!("{help} [default: {humanoid}]")
    } else {
        format!("{help} [default: {humanoid}; small {small}, large {large}]")
    }
}

/// A flag, the library's name for it, and the value given.
type Flag = (&'static str, &'static str, Option<String>);

impl SettingsArgs {
    /// Whether any flag was given; the first of them.
    pub(crate) fn first_flag(&self) -> Option<&'static str> {
        let mut given = self.flags().into_iter();
        given
            .find(|(.., value)| value.is_some())
            .map(|(flag, ..)| flag)
    }

    /// The first of these flags that was given.
    pub(crate) fn given(&self, wanted: &[&str]) -> Option<&'static str> {
        let mut flags = self.flags().into_iter();
        flags
            .find(|(flag, _, value)| value.is_some() && wanted.contains(flag))
            .map(|(flag, ..)| flag)
    }

    /// The class with the flags given.
    ///
    /// # Errors
    /// In the words of the flags: a value out of range, or values that do not go together.
    pub(crate) fn settings(&self) -> Result<NavSettings, String> {
        let settings = self.unchecked();
        let checked = if self.solo {
            settings.validate()
        } else {
            TilePlan::new(&settings).map(drop)
        };
        match checked {
            Ok(()) => Ok(settings),
            Err(error) => Err(self.explain(&error)),
        }
    }

    fn unchecked(&self) -> NavSettings {
        let mut settings = match self.preset {
            None | Some(Preset::Humanoid) => NavSettings::HUMANOID,
            Some(Preset::Small) => NavSettings::SMALL,
            Some(Preset::Large) => NavSettings::LARGE,
        };
        for (field, flag) in [
            (&mut settings.agent_radius, self.radius),
            (&mut settings.agent_height, self.height),
            (&mut settings.walkable_climb, self.climb),
            (&mut settings.agent_max_slope_degrees, self.slope),
            (&mut settings.cell_size, self.cell),
            (&mut settings.cell_height, self.cell_height),
            (&mut settings.tile_size, self.tile),
            (&mut settings.max_edge_length, self.max_edge),
            (&mut settings.contour_max_error, self.contour_error),
            (&mut settings.detail_sample_distance, self.detail_distance),
            (&mut settings.detail_max_error, self.detail_error),
        ] {
            *field = flag.unwrap_or(*field);
        }
        if self.solo {
            // The level decides; until then any width that goes with the cells will do.
            settings.tile_size = f64::from(settings.cell_size as f32);
        }
        settings.min_region_area = self.min_region.unwrap_or(settings.min_region_area);
        settings.merge_region_area = self.merge_region.unwrap_or(settings.merge_region_area);
        settings.partition = match self.partition {
            None => settings.partition,
            Some(Partition::Watershed) => PartitionType::Watershed,
            Some(Partition::Monotone) => PartitionType::Monotone,
            Some(Partition::Layers) => PartitionType::Layers,
        };
        settings
    }

    fn flags(&self) -> [Flag; 16] {
        let text = |value: Option<f64>| value.map(|value| value.to_string());
        let whole = |value: Option<i32>| value.map(|value| value.to_string());
        let preset = self.preset.map(|preset| name(&preset));
        let partition = self.partition.map(|partition| name(&partition));
        let solo = self.solo.then(String::new);
        [
            ("--preset", "preset", preset),
            ("--solo", "solo", solo),
            ("--radius", "agent_radius", text(self.radius)),
            ("--height", "agent_height", text(self.height)),
            ("--climb", "walkable_climb", text(self.climb)),
            ("--slope", "agent_max_slope_degrees", text(self.slope)),
            ("--cell", "cell_size", text(self.cell)),
            ("--cell-height", "cell_height", text(self.cell_height)),
            ("--tile", "tile_size", text(self.tile)),
            ("--partition", "partition", partition),
            ("--max-edge", "max_edge_length", text(self.max_edge)),
            (
                "--contour-error",
                "contour_max_error",
                text(self.contour_error),
            ),
            (
                "--detail-distance",
                "detail_sample_distance",
                text(self.detail_distance),
            ),
            (
                "--detail-error",
                "detail_max_error",
                text(self.detail_error),
            ),
            ("--min-region", "min_region_area", whole(self.min_region)),
            (
                "--merge-region",
                "merge_region_area",
                whole(self.merge_region),
            ),
        ]
    }

    /// An error of the mesh builder in the words of the flags. A value nobody typed is said to be a
    /// default, with the flags it does not go with.
    pub(crate) fn explain(&self, error: &ArgumentError) -> String {
        let flags = self.flags();
        let in_flags = |text: &str| {
            let names = flags.iter().filter(|(_, field, _)| field.contains('_'));
            names.fold(text.to_owned(), |text, (flag, field, _)| {
                text.replace(field, flag)
            })
        };
        let [argument, value, allowed] =
            [&error.argument, &error.value, &error.allowed].map(|text| in_flags(text));
        if self.solo && error.argument == "tile_size" {
            return format!("the one tile of --solo is {value}; it must be {allowed}");
        }
        let is_default = flags
            .iter()
            .any(|(_, field, given)| *field == error.argument && given.is_none());
        if !is_default {
            return format!("{argument} is {value}; it must be {allowed}");
        }
        let given: Vec<String> = flags
            .iter()
            .filter_map(|(flag, _, given)| Some(format!("{flag} {}", given.as_ref()?)))
            .collect();
        let given = if given.is_empty() {
            String::new()
        } else {
            format!("with {} ", given.join(" ").replace("  ", " "))
        };
        format!("{argument} is {value} by default; {given}it must be {allowed}")
    }
}

/// A value's name on the command line.
fn name(value: &impl ValueEnum) -> String {
    let value = value.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_flags_are_the_presets() {
        let settings = |preset| {
            let args = SettingsArgs {
                preset,
                ..SettingsArgs::default()
            };
            args.settings().unwrap()
        };
        assert_eq!(settings(None), NavSettings::HUMANOID);
        assert_eq!(settings(Some(Preset::Small)), NavSettings::SMALL);
        assert_eq!(settings(Some(Preset::Large)), NavSettings::LARGE);
    }

    #[test]
    fn the_largest_region_is_the_builders() {
        for (cells, fits) in [(MOST_CELLS, true), (MOST_CELLS + 1, false)] {
            let args = SettingsArgs {
                min_region: Some(cells),
                merge_region: Some(cells),
                ..SettingsArgs::default()
            };
            assert_eq!(args.settings().is_ok(), fits, "{cells}");
        }
    }

    #[test]
    fn errors_speak_of_flags() {
        let slope = SettingsArgs {
            slope: Some(95.0),
            ..SettingsArgs::default()
        };
        let cell = SettingsArgs {
            cell: Some(0.01),
            ..SettingsArgs::default()
        };
        let radius = SettingsArgs {
            radius: Some(1e6),
            ..SettingsArgs::default()
        };
        for (args, words) in [
            (slope, "--slope is 95; it must be between 0 and 90"),
            (
                cell,
                "--tile is 64 by default; with --cell 0.01 it must be small enough that",
            ),
            (radius, "--radius is 3333334 cells of --cell; it must be"),
        ] {
            let problem = args.settings().unwrap_err();
            assert!(problem.starts_with(words), "{problem}");
        }
    }
}

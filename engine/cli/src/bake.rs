//! `throng bake`: a level's mesh, built once and written to a file.

use serde_json::json;

use crate::args::{BakeArgs, DEFAULT_AGENTS};
use crate::file::own_stream;
use crate::host::{self, Failure, peak_rss_mb, place_of};
use crate::level::{self, Level, Mesh};
use crate::outputs;
use crate::report::{Table, mesh_sizes};
use crate::spawn::Ground;
use crate::words::{count, rounded};

/// Builds the mesh and writes the baked file, unless nobody could walk in it.
pub(crate) fn run(args: &BakeArgs) -> Result<(), Failure> {
    let outputs = [("--output", Some(&args.output))];
    let say = outputs::voice(&outputs);
    let level = level::load(&args.level, &args.source, 0, &outputs)?;
    let Mesh::Nav(mesh) = &level.mesh else {
        return Err(Failure::about(
            &args.level,
            "bare mesh bytes lack the settings a baked file needs",
        ));
    };
    let mut bytes = Vec::new();
    if !level.is_empty() {
        bytes = mesh.save();
        host::write(&args.output, &bytes)?;
    }
    let sizes = mesh_sizes(mesh.tiles_mesh());
    let output = place_of(&args.output).display();
    if args.source.json {
        let object = json!({
            "level": level.name,
            "size": level.size,
            "output": (!level.is_empty()).then(|| output.to_string()),
            "bytes": bytes.len(),
            "build_ms": rounded(level.build_ms),
            "tiles": sizes.tiles,
            "polygons": sizes.polygons,
            "vertices": sizes.vertices,
            "area": rounded(sizes.area),
            "peak_rss_mb": peak_rss_mb().map(rounded),
        });
        say(&object.to_string())?;
    } else {
        let mut table = Table::default();
        table.row("level", format!("{} ({})", level.name, level.source));
        table.row("mesh", sizes.to_string());
        table.row("built in", format!("{:.0} ms", level.build_ms));
        if level.is_empty() {
            table.note(&level.why_empty());
            table.note(&format!(
                "There is nothing to bake: {output} was not written."
            ));
        } else {
            table.row("written", format!("{output}, {} bytes", count(bytes.len())));
            if own_stream(&args.output).is_none() {
                table.tip(&format!(
                    "throng simulate {output}{}",
                    fitting_agents(&level)
                ));
            }
        }
        say(&table.to_string())?;
    }
    if level.is_empty() {
        return Err(level.no_ground(args.source.json));
    }
    Ok(())
}

/// The flag that fills a level with as many agents as have room to walk freely in it; nothing where
/// those of a run without the flag have.
fn fitting_agents(level: &Level) -> String {
    let ground = Ground::largest(level.tiles());
    let agents = ground.map_or(1, |ground| level.room_for(ground.area()));
    if agents >= DEFAULT_AGENTS as usize {
        return String::new();
    }
    format!(" --agents {agents}")
}

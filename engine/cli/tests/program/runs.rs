//! Simulations and paths: what they report, and that it depends on the inputs alone.

use serde_json::Value;

use crate::{SMALL, failed, folder, hash, json, output, write_floor};

#[test]
fn the_report_has_every_key_with_its_type() {
    let folder = folder("report");
    let run = json(&folder, &format!("{SMALL} --threads 2 --seed 3"));
    assert_eq!(
        (&run["level"], &run["size"]),
        (&"rooms".into(), &96.0.into())
    );
    assert_eq!(run["agents"], 120);
    assert_eq!(run["steps"], 60);
    assert_eq!(run["threads"], 2);
    assert_eq!(run["seed"], 3);
    assert_eq!(run["dt"], 0.05);
    assert!(run["arrived"].is_u64() && run["tiles"].is_u64() && run["polygons"].is_u64());
    for key in ["agent_steps_per_ms", "build_ms", "mean_speed", "mean_route"] {
        assert!(
            run[key].as_f64().is_some_and(|v| v > 0.0),
            "{key}: {}",
            run[key]
        );
    }
    for stage in ["snapshot", "plan", "avoid", "motion"] {
        assert!(run["stages_ms"][stage].is_f64(), "{stage}");
    }
    let ratio = &run["walked_over_route"];
    assert!(ratio.is_null() || ratio.as_f64().is_some_and(|r| r > 0.9));
    if cfg!(target_os = "linux") {
        assert!(run["peak_rss_mb"].as_f64().is_some_and(|mb| mb > 1.0));
    }
    let hash = hash(&run);
    assert_eq!(hash.len(), 16);
    assert!(
        hash.chars()
            .all(|c| c.is_ascii_digit() || ('A'..='F').contains(&c)),
        "{hash}"
    );
    let states = run["states"].as_object().unwrap();
    let agents: u64 = states.values().filter_map(Value::as_u64).sum();
    assert_eq!(agents, 120);
}

#[test]
fn the_hash_depends_on_the_seed_and_not_on_threads() {
    let folder = folder("threads");
    let one = hash(&json(&folder, &format!("{SMALL} --threads 1")));
    for threads in [1, 2, 5, 16] {
        let run = json(&folder, &format!("{SMALL} --threads {threads}"));
        assert_eq!(hash(&run), one, "{threads} threads");
    }
    assert_ne!(hash(&json(&folder, &format!("{SMALL} --seed 2"))), one);
    assert!(output(&folder, SMALL).contains(&one));
}

#[test]
fn what_happens_on_arrival_is_the_same_at_every_thread_count() {
    let folder = folder("arrival");
    write_floor(&folder);
    let walk = "simulate floor.obj --agents 40 --steps 300 --check --on-arrival";
    let stay = json(&folder, &format!("{walk} stay"));
    let remove = json(&folder, &format!("{walk} remove --threads 1"));
    let again = json(&folder, &format!("{walk} again --threads 1"));
    assert!(stay["arrived"].as_u64().is_some_and(|n| n > 30), "{stay}");
    assert!(again["arrived"].as_u64() > stay["arrived"].as_u64());
    assert_eq!(again["states"]["moving"], 40);
    let left = 40 - remove["arrived"].as_u64().unwrap();
    assert_eq!(remove["states"]["moving"].as_u64(), Some(left));
    for (what, run) in [("remove", remove), ("again", again)] {
        let two = json(&folder, &format!("{walk} {what} --threads 2"));
        assert_eq!(hash(&two), hash(&run), "{what}");
    }
}

#[test]
fn more_agents_than_fit_are_placed_as_far_as_there_is_room() {
    let folder = folder("full");
    write_floor(&folder);
    let words = output(&folder, "simulate floor.obj --agents 5000 --steps 1");
    assert!(words.contains("placed of 5,000"), "{words}");
    assert!(
        words.contains("crowded: `--agents 61` would have room"),
        "{words}"
    );
    let words = output(&folder, "simulate floor.obj --agents 61 --steps 1");
    assert!(!words.contains("crowded"), "{words}");
    let run = json(
        &folder,
        "simulate floor.obj --agents 5000 --steps 0 --check",
    );
    assert!(
        run["agents"]
            .as_u64()
            .is_some_and(|n| (300..1100).contains(&n)),
        "{run}"
    );
}

#[test]
fn what_was_checked_is_said() {
    let folder = folder("checked");
    write_floor(&folder);
    let walk = "simulate floor.obj --agents 20 --steps 30";
    let words = output(&folder, &format!("{walk} --check"));
    let line = "  check       passed: after every step everybody was on the mesh (600 positions)\n";
    assert!(words.contains(line), "{words}");
    let run = json(&folder, &format!("{walk} --check"));
    assert_eq!(run["checked"], 600);
    assert_eq!(run["not_checked_on_links"], 0);
    assert!(!output(&folder, walk).contains("check "));
    let run = json(&folder, walk);
    assert!(run["checked"].is_null() && run["not_checked_on_links"].is_null());
    let still = output(&folder, "simulate floor.obj -n 5 -s 0 --check");
    assert!(still.contains("nothing to check without a step"), "{still}");
    // Whoever is on a link is between two polygons.
    let links = "simulate two_floors --size 64 -n 60 -s 200 --check";
    let run = json(&folder, links);
    let on_links = 60 * 200 - run["checked"].as_u64().unwrap();
    assert!(on_links > 0, "{run}");
    assert_eq!(run["not_checked_on_links"], on_links);
    let left_out = format!(", {on_links} on links not looked at)");
    let words = output(&folder, links);
    assert!(
        words.replace(',', "").contains(&left_out.replace(',', "")),
        "{words}"
    );
}

#[test]
fn a_baked_level_is_proposed_with_the_agents_it_has_room_for() {
    let folder = folder("proposed");
    write_floor(&folder);
    let words = output(&folder, "bake floor.obj -o floor.nav");
    let next = "  Next: throng simulate floor.nav --agents 61\n";
    assert!(words.ends_with(next), "{words}");
    // And they have: a run with them does not call it crowded.
    let words = output(&folder, "simulate floor.nav --agents 61 --steps 1");
    assert!(!words.contains("crowded"), "{words}");
    let words = output(&folder, "bake city --size 576 -o city.nav");
    assert!(
        words.ends_with("  Next: throng simulate city.nav\n"),
        "{words}"
    );
}

#[test]
fn the_path_across_a_floor_is_straight() {
    let folder = folder("path");
    write_floor(&folder);
    let ask = "path floor.obj --from 3,0,3 --to 36,0,36";
    let path = json(&folder, &format!("{ask} --picture path.svg"));
    assert_eq!(path["status"], "found");
    assert_eq!(
        format!("{:.4}", path["length"].as_f64().unwrap()),
        "46.6690"
    );
    assert_eq!(path["points"].as_array().map(Vec::len), Some(2));
    assert!(path["cost"].is_f64() && path["corridor"].is_u64());
    let words = output(&folder, ask);
    assert!(
        words.contains("found") && words.contains("46.6690"),
        "{words}"
    );
    let picture = std::fs::read_to_string(folder.join("path.svg")).unwrap();
    assert!(
        picture.contains("viewBox") && picture.contains("46.67"),
        "{picture}"
    );
}

#[test]
fn no_path_is_reported_and_a_failure() {
    let folder = folder("no_path");
    write_floor(&folder);
    let ask = "path floor.obj --from -100,0,-100 --to 36,0,36";
    let (out, complaint) = failed(&folder, &format!("{ask} --json"));
    let nowhere: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(nowhere["status"], "start_invalid");
    assert!(nowhere["cost"].is_null());
    assert!(complaint.contains("nothing walkable near the start"));
    // The words of the failure are said once, and say where the ground is.
    let (words, complaint) = failed(&folder, ask);
    assert!(words.contains("the start is off the mesh"), "{words}");
    assert!(!words.contains("no"), "{words}");
    let near = "near the start; the nearest ground is at 0.897,0,0.897, 142.69 units away\n";
    assert!(complaint.ends_with(near), "{complaint}");
    let back = "path floor.obj --to -100,0,20 --from 36,0,36";
    let (_, complaint) = failed(&folder, back);
    assert!(complaint.contains("near the goal; the nearest ground is at 0.897,0,20,"));
}

#[test]
fn ends_moved_onto_the_mesh_are_told() {
    let folder = folder("moved");
    write_floor(&folder);
    let words = output(&folder, "path floor.obj --from 3,2,3 --to 36,0,41");
    assert!(
        words.contains("start       moved 2.00 units onto"),
        "{words}"
    );
    assert!(words.contains("goal        moved 1."), "{words}");
    let level = json(&folder, "path floor.obj --from 3,2,3 --to 36,0,36")["points"][0][1].clone();
    let exact = format!("path floor.obj --from 3,{level},3 --to 36,{level},36");
    let words = output(&folder, &exact);
    assert!(!words.contains("moved"), "{words}");
    assert!(words.contains("corridor    1 polygon\n"), "{words}");
    assert!(words.contains("priced by area"), "{words}");
}

#[test]
fn who_arrived_and_who_stands_at_the_goal_are_two_counts() {
    let folder = folder("arrived");
    write_floor(&folder);
    let walk = "simulate floor.obj --agents 40 --steps 300";
    let words = output(
        &folder,
        &format!("{walk} --picture end.svg --record end.thrr"),
    );
    assert!(words.contains(" at the goal"), "{words}");
    assert!(words.contains("times the planned route"), "{words}");
    assert!(words.contains(" µs each"), "{words}");
    let run = json(&folder, walk);
    let standing = format!("{} at the goal", run["states"]["arrived"]);
    assert!(words.contains(&standing), "{words}");
    let picture = std::fs::read_to_string(folder.join("end.svg")).unwrap();
    assert!(picture.contains(&standing), "{standing}");
    assert!(output(&folder, "info end.thrr").contains(&standing));
    let tip = "or `--on-arrival again` to keep it walking.";
    assert!(output(&folder, walk).ends_with(&format!("see it, {tip}\n")));
    let on = output(&folder, &format!("{walk} --on-arrival again"));
    assert!(on.ends_with("to see it.\n"), "{on}");
    let empty = "simulate floor.obj --agents 1 --steps 600 --on-arrival remove";
    assert!(output(&folder, empty).contains("nobody is left"));
}

#[test]
fn a_profile_counts_the_work_and_changes_nothing() {
    let folder = folder("profile");
    let plain = json(&folder, SMALL);
    let profiled = json(&folder, &format!("{SMALL} --profile"));
    assert_eq!(hash(&plain), hash(&profiled));
    assert!(plain["profile"].is_null());
    let words = output(&folder, &format!("{SMALL} --profile"));
    let lines: Vec<_> = words
        .lines()
        .filter_map(|line| line.strip_suffix(" per 1,000 agent-steps"))
        .collect();
    assert_eq!(lines.len(), 7, "{words}");
    // Digits end in the same column, labels end in front of them, thousands are set apart.
    for line in lines {
        assert_eq!(line.chars().count(), 48, "{words}");
        assert_eq!(&line[20..21], " ", "{words}");
        assert!(!line.contains("0000"), "{words}");
    }
    let count = |name: &str| profiled["profile"][name].as_u64().unwrap();
    // At least one program an agent and step, and never more searches than nodes.
    assert!(count("programs_solved") >= 100 * 60);
    assert!(count("shortcut_searches") <= count("nodes_expanded"));
    assert!(count("wall_lookups") >= 120);
}

#[test]
fn a_level_of_two_floors_comes_with_its_links() {
    let folder = folder("runs-two-floors");
    output(&folder, "bake two_floors --size 64 --seed 3 -o floors.onnm");
    let info = json(&folder, "info floors.onnm");
    assert_eq!(info["off_mesh_links"], 12, "{info}");
    // From the ground onto the deck of the first block, which spans more than 10..22 both ways.
    let path = json(&folder, "path floors.onnm --from 2,0,2 --to 16,4,14");
    assert_eq!(path["status"], "found", "{path}");
    let walk = "simulate two_floors --size 64 --seed 3 --agents 60 --steps 100";
    let one = json(&folder, &format!("{walk} --threads 1"));
    assert_eq!(
        hash(&one),
        hash(&json(&folder, &format!("{walk} --threads 5")))
    );
}

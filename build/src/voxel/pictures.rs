//! Random regions on a small grid, for tests that compare a stage with plain code.

use crate::voxel::contours::SpanView;
use throng_soa::rng::SplitMix64;

/// Cells along a picture.
pub(crate) const SIDE: u32 = 44;

/// A field of one floor with regions and neighbours.
pub(crate) struct Picture {
    floor: Vec<u16>,
    area: Vec<u8>,
    region: Vec<u32>,
    neighbor: Vec<[u32; 4]>,
    cell: Vec<u32>,
    region_count: u32,
}

impl Picture {
    pub(crate) fn view(&self) -> SpanView<'_> {
        SpanView {
            width: SIDE,
            depth: SIDE,
            floor: &self.floor,
            area: &self.area,
            region: &self.region,
            neighbor: &self.neighbor,
            cell: &self.cell,
            region_count: self.region_count,
        }
    }
}

/// A square with `blocks` small rectangles taken out. Regions are its connected pieces, cut into
/// bands so that borders between regions occur.
pub(crate) fn random(seed: u64, blocks: u32) -> Picture {
    let mut rng = SplitMix64::new(seed);
    let cells = (SIDE * SIDE) as usize;
    let mut solid = vec![true; cells];
    for _ in 0..blocks {
        let (x, z) = (rng.next_below(SIDE), rng.next_below(SIDE));
        let (w, d) = (1 + rng.next_below(5), 1 + rng.next_below(5));
        for cz in z..(z + d).min(SIDE) {
            for cx in x..(x + w).min(SIDE) {
                solid[(cx + cz * SIDE) as usize] = false;
            }
        }
    }
    let neighbor: Vec<[u32; 4]> = (0..SIDE * SIDE)
        .map(|cell| {
            let (x, z) = (cell % SIDE, cell / SIDE);
            let link = |there: bool, other: u32| {
                let open = there && solid[cell as usize] && solid[other as usize];
                if open { other } else { u32::MAX }
            };
            [
                link(x > 0, cell.wrapping_sub(1)),
                link(z + 1 < SIDE, cell + SIDE),
                link(x + 1 < SIDE, cell + 1),
                link(z > 0, cell.wrapping_sub(SIDE)),
            ]
        })
        .collect();
    let band = |cell: usize| cell as u32 / SIDE / 22;
    let mut region = vec![0; cells];
    let mut region_count = 0;
    for start in 0..cells {
        if !solid[start] || region[start] != 0 {
            continue;
        }
        region_count += 1;
        let mut stack = vec![start];
        while let Some(cell) = stack.pop() {
            if region[cell] == 0 && band(cell) == band(start) {
                region[cell] = region_count;
                let open = neighbor[cell].iter().filter(|&&n| n != u32::MAX);
                stack.extend(open.map(|&n| n as usize));
            }
        }
    }
    Picture {
        floor: (0..cells).map(|c| 20 + (c as u16 % 7) / 5).collect(),
        area: vec![63; cells],
        region,
        neighbor,
        cell: (0..SIDE * SIDE).collect(),
        region_count,
    }
}

//! Numbers are written by their bits: a zero keeps its sign, in the bytes and in what is read from
//! them, and the two zeros are two contents.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use common::{params, rich};
use throng_soa::mesh::format::{mesh_bytes, read_mesh, read_tile, tile_bytes};
use throng_soa::mesh::{NavTile, TiledMesh};

#[test]
fn a_negative_zero_keeps_its_sign_in_the_bytes() {
    let with = |zero: f32| {
        let mut data = rich(0, 0);
        data.origin_y = f64::from(zero);
        data.vertices[0][1] = zero;
        data.detail_vertices[1][1] = zero;
        data.off_mesh_links[1].end[0] = zero;
        NavTile::create(data, &params()).unwrap()
    };
    let (negative, positive) = (with(-0.0), with(0.0));
    let (bytes, other) = (tile_bytes(&negative), tile_bytes(&positive));
    let read = read_tile(&bytes, &params()).unwrap();
    assert_eq!(tile_bytes(&read), bytes);
    let data = read.data();
    assert!(data.origin_y.is_sign_negative());
    for zero in [
        data.vertices[0][1],
        data.detail_vertices[1][1],
        data.off_mesh_links[1].end[0],
    ] {
        assert_eq!(zero.to_bits(), 0x8000_0000);
    }
    // Only the last byte of each of the four differs: 84 bytes of head, 12 vertices of 12 bytes, 6
    // records of 16, 24 corners of 7, and links of 36 at the end.
    let differ: Vec<usize> = (0..bytes.len()).filter(|&i| bytes[i] != other[i]).collect();
    let detail = 84 + 12 * 12 + 6 * 16 + 24 * 7;
    let expected = [51, 84 + 7, detail + 12 + 7, bytes.len() - 2 * 36 + 12 + 3];
    assert_eq!(differ, expected);
    assert!(differ.iter().all(|&i| (bytes[i], other[i]) == (0x80, 0)));
    assert_ne!(negative.content_id(), positive.content_id());
    // Of a mesh, too.
    let mut mesh = TiledMesh::new(params()).unwrap();
    mesh.add_tile(negative).unwrap();
    let again = read_mesh(&mesh_bytes(&mesh)).unwrap();
    assert_eq!(tile_bytes(again.tile(0).unwrap()), bytes);
    assert!(again.tile(0).unwrap().poly_ring(0)[0].y.is_sign_negative());
}

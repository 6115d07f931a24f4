//! A campaign for the tests of queues.

use campaign::bundle;
use campaign::unit::{self, Budget, Campaign, Launch, Program, Task, Unit};
use std::collections::BTreeMap;

fn budget() -> Budget {
    Budget {
        strategies: Vec::new(),
        batch: 1,
        trials: 0,
        portion: 0,
        portions: 0,
        seed: 0,
        units: Some(200),
        seconds: None,
        even: true,
        floor_percent: 20,
        lease_s: 1.0,
        simulated_micros: Some(10),
    }
}

/// A campaign whose units do nothing, with a bundle of one file.
pub fn campaign(name: &str) -> (Campaign, BTreeMap<String, Vec<u8>>) {
    let piece = b"class".to_vec();
    let digest = bundle::digest(&piece);
    let campaign = Campaign {
        schema: unit::SCHEMA,
        name: name.to_owned(),
        tool: "photofinish test".to_owned(),
        started: unit::now(),
        programs: vec![Program {
            name: "simulated".into(),
            args: vec![],
            original: vec![],
        }],
        launch: Launch::default(),
        budget: budget(),
        bundle: bundle::Manifest {
            pieces: vec![bundle::Piece {
                digest: digest.clone(),
                bytes: 5,
            }],
            files: vec![bundle::File {
                path: "0/A.class".into(),
                piece: 0,
                offset: 0,
                bytes: 5,
            }],
        },
    };
    (campaign, BTreeMap::from([(digest, piece)]))
}

pub fn unit(campaign: &str, index: u32) -> Unit {
    Unit {
        campaign: campaign.to_owned(),
        arm: "p0-simulated".into(),
        index,
        program: 0,
        task: Task::Simulated {
            micros: 10,
            seed: index.into(),
        },
    }
}

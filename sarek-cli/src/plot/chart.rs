//! Plots as SVG, which a page contains without any script.

use plotters::prelude::*;

use super::record::{Record, Row};
use crate::error::{Error, Result};

const BEHIND: RGBColor = RGBColor(213, 94, 0);
const AHEAD: RGBColor = RGBColor(0, 114, 178);
const WIDTH: u32 = 860;

/// An error of the plotting library.
fn failed(error: impl std::fmt::Display) -> Error {
    Error::System {
        what: format!("a plot cannot be made: {error}"),
        help: "report this".into(),
    }
}

/// A bar for each ratio, from 1 to its value on a logarithmic axis, with a line for the quartiles. `None` without ratios.
pub fn ratios(record: &Record) -> Result<Option<String>> {
    let bars: Vec<(&Row, f64)> = record
        .rows
        .iter()
        .filter_map(|row| row.ratio.map(|ratio| (row, ratio)))
        .collect();
    if bars.is_empty() {
        return Ok(None);
    }
    let ends = bars.iter().flat_map(|(row, ratio)| {
        let (low, high) = row.quartiles.unwrap_or((*ratio, *ratio));
        [*ratio, low, high]
    });
    let (least, most) = ends.fold((0.5f64, 2.0f64), |(least, most), end| {
        (least.min(end), most.max(end))
    });
    let mut svg = String::new();
    {
        let height = 60 + 22 * bars.len() as u32;
        let area = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        let count = bars.len() as f64;
        let mut chart = ChartBuilder::on(&area)
            .margin(8)
            .x_label_area_size(36)
            .y_label_area_size(300)
            .build_cartesian_2d((least / 1.1..most * 1.1).log_scale(), 0.0..count)
            .map_err(failed)?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .disable_y_axis()
            .x_desc("time of the other side / time of sarek; above 1, sarek is faster")
            .draw()
            .map_err(failed)?;
        for (at, (row, ratio)) in bars.iter().enumerate() {
            let (top, middle) = (count - at as f64, count - at as f64 - 0.5);
            let color = if *ratio < 1.0 { BEHIND } else { AHEAD };
            let (from, to) = (ratio.min(1.0), ratio.max(1.0));
            let bar = Rectangle::new([(from, top - 0.8), (to, top - 0.2)], color.filled());
            chart.draw_series([bar]).map_err(failed)?;
            if let Some((low, high)) = row.quartiles {
                let line = PathElement::new([(low, middle), (high, middle)], BLACK);
                chart.draw_series([line]).map_err(failed)?;
            }
            let (_, y) = chart.backend_coord(&(1.0, middle));
            let name = text(row);
            area.draw(&Text::new(name, (8, y - 6), ("sans-serif", 13)))
                .map_err(failed)?;
        }
        chart
            .draw_series([PathElement::new([(1.0, 0.0), (1.0, count)], BLACK)])
            .map_err(failed)?;
        area.present().map_err(failed)?;
    }
    Ok(Some(svg))
}

fn text(row: &Row) -> String {
    format!("{} {} / {}", row.kernel, row.size, row.against)
}

/// The roofline: operations a second over operations a byte, below the device's bandwidth and its peak. `None` if a figure is missing.
pub fn roofline(record: &Record) -> Result<Option<String>> {
    let points: Vec<(&Row, f64, f64)> = record
        .rows
        .iter()
        .filter_map(|row| row.intensity().map(|(x, y)| (row, x, y)))
        .collect();
    let (Some(bandwidth), Some(peak), false) = (
        record.number("bandwidth_gb_s"),
        record.number("peak_gflop_s"),
        points.is_empty(),
    ) else {
        return Ok(None);
    };
    let ridge = peak / bandwidth;
    let ends = points.iter().map(|(_, x, _)| *x);
    let (left, right) = ends.fold((0.05f64, 4.0 * ridge), |(left, right), x| {
        (left.min(x / 2.0), right.max(2.0 * x))
    });
    let lowest = points
        .iter()
        .map(|(_, _, y)| *y)
        .fold(left * bandwidth, f64::min);
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, 480)).into_drawing_area();
        let mut chart = ChartBuilder::on(&area)
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(70)
            .build_cartesian_2d(
                (left..right).log_scale(),
                (lowest / 2.0..peak * 2.0).log_scale(),
            )
            .map_err(failed)?;
        chart
            .configure_mesh()
            .x_desc("floating-point operations for each byte")
            .y_desc("Gflop/s")
            .draw()
            .map_err(failed)?;
        let roof = [(left, left * bandwidth), (ridge, peak), (right, peak)];
        chart
            .draw_series(LineSeries::new(roof, BLACK))
            .map_err(failed)?;
        for (row, x, y) in points {
            let dot = Circle::new((x, y), 4, AHEAD.filled());
            chart.draw_series([dot]).map_err(failed)?;
            let (x, y) = chart.backend_coord(&(x, y));
            let label = format!("{} {}", row.kernel, row.size);
            area.draw(&Text::new(label, (x + 7, y - 5), ("sans-serif", 12)))
                .map_err(failed)?;
        }
        area.present().map_err(failed)?;
    }
    Ok(Some(svg))
}

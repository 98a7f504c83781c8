"""From a file to results and findings: what is asked, the phases, and what is kept between two calls."""

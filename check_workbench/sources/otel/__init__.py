"""OpenTelemetry spans in every form that tools export, one file a form; the rest makes spans and runs of them."""

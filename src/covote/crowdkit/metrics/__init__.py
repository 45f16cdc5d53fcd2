"""crowd-kit's metrics: of the data (`data`) and of the workers (`workers`)."""

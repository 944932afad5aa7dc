//! Tables of a host application and the views over them, for each database.

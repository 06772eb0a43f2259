SELECT * FROM residency
SELECT number, blocks_per_sm, plain_blocks_per_sm, registers, plain_registers, limited_by, local_bytes FROM launch
SELECT text FROM note

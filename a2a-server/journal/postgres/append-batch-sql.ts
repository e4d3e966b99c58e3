/**
 * Defines the function in the database that writes the appends of one commit, in one round trip. It raises an error and
 * writes nothing if the state in the database differs from the state on which the appends were decided:
 *
 * - `SQLSTATE_SERVER_REMOVED`: another server has removed this server from the database, or the number of the commit is
 *   not the next one.
 * - `SQLSTATE_STALE`: a task has another `seq` (another writer appended, J1) or another epoch (another server executes it, E1),
 *   or an execution appends after the end of the server's lease.
 * - A unique index is violated: the task, the session's live task, the message id or the `seq` exists already.
 *
 * A commit does not lock the row with the server's lease. So a long commit delays no renewal. E1 holds without that
 * lock, because a claim and the commit of an execution both update the row of the task:
 *
 * - PostgreSQL runs two updates of one row one after another. The second update checks its conditions again on the new
 *   row.
 * - If the claim is first, the row has a larger epoch. The commit then finds no row with its epoch, and writes nothing.
 * - If the commit is first, the claim waits for its end or skips the task. The new owner then reads the new events.
 * - The lease decides only when a claim may begin. The commit may read a lease that a renewal is just extending. Then
 *   the commit may refuse valid appends, and they are decided again.
 */
export const SQLSTATE_SERVER_REMOVED = 'A2A01';
export const SQLSTATE_STALE = 'A2A02';
export const SQLSTATE_UNIQUE_VIOLATION = '23505';

/**
 * `parts` has the small values as lists of objects. A server of an earlier version sends no sizes and no `written`.
 * Bodies and chunks are arrays, because JSON in PostgreSQL cannot contain all of their characters. A new task has no
 * key yet. Its events and other values therefore name it by a negative number: -1 is the first task in `created`.
 */
export const CREATE_APPEND_BATCH = `
  CREATE OR REPLACE FUNCTION append_batch(
    p_server text, p_batch bigint, p_at bigint, parts json,
    event_tasks bigint[], event_seqs integer[], bodies text[], chunks bytea[]
  ) RETURNS bigint[] LANGUAGE plpgsql AS $$
  DECLARE
    created bigint[] := '{}';
    new_task record;
    new_key bigint;
    changed integer;
    leased boolean;
    own_label text;
  BEGIN
    UPDATE commits SET batch = p_batch WHERE server = p_server AND batch = p_batch - 1;
    IF NOT FOUND THEN
      -- A server of an earlier version has no row in "commits". Its number is in "nodes".
      UPDATE nodes SET batch = p_batch WHERE id = p_server AND batch = p_batch - 1;
      IF NOT FOUND THEN RAISE EXCEPTION 'the database does not know this server' USING ERRCODE = '${SQLSTATE_SERVER_REMOVED}'; END IF;
    END IF;
    SELECT lease_until > clock_timestamp(), label INTO leased, own_label FROM nodes WHERE id = p_server;

    -- A task that ends comes before a task that begins, because a session has one live task.
    IF json_array_length(parts -> 'moved') > 0 THEN
      UPDATE tasks SET seq = moved.seq, updated_at = p_at, state = moved.state, title = moved.title,
        deadline = moved.deadline, model = moved.model, saved = moved.saved, size = coalesce(moved.size, tasks.size),
        first_message = coalesce(moved.first_message, tasks.first_message)
      FROM json_to_recordset(parts -> 'moved') AS moved(
        key bigint, expected integer, seq integer, state text, title text, deadline bigint, model text,
        saved boolean, size bigint, first_message text, epoch bigint)
      WHERE tasks.key = moved.key AND tasks.seq = moved.expected
        AND (moved.epoch IS NULL OR (leased AND tasks.epoch = moved.epoch));
      GET DIAGNOSTICS changed = ROW_COUNT;
      IF changed <> json_array_length(parts -> 'moved') THEN
        RAISE EXCEPTION 'a task has new events' USING ERRCODE = '${SQLSTATE_STALE}';
      END IF;
    END IF;

    FOR new_task IN
      SELECT * FROM json_to_recordset(parts -> 'created') AS item(
        task_id text, session_id text, principal text, state text, seq integer, title text, deadline bigint,
        model text, saved boolean, size bigint, workspace text, first_message text)
    LOOP
      INSERT INTO tasks (task_id, session_id, principal, state, seq, created_at, updated_at, title, deadline, model,
        saved, size, workspace, first_message, owner, label)
      VALUES (new_task.task_id, new_task.session_id, new_task.principal, new_task.state, new_task.seq, p_at, p_at,
        new_task.title, new_task.deadline, new_task.model, new_task.saved, coalesce(new_task.size, 0), new_task.workspace,
        coalesce(new_task.first_message, ''), p_server, own_label)
      RETURNING key INTO new_key;
      created := created || new_key;
    END LOOP;

    INSERT INTO events (task, seq, at, body)
      SELECT CASE WHEN event.task < 0 THEN created[-event.task] ELSE event.task END, event.seq, p_at, event.body
      FROM unnest(event_tasks, event_seqs, bodies) AS event(task, seq, body);

    IF json_array_length(parts -> 'commands') > 0 THEN
      INSERT INTO commands (principal, message_id, body_hash, task, seq)
        SELECT principal, message_id, body_hash, CASE WHEN task < 0 THEN created[-task] ELSE task END, seq
        FROM json_to_recordset(parts -> 'commands')
          AS item(principal text, message_id text, body_hash text, task bigint, seq integer);
    END IF;

    IF json_array_length(parts -> 'tools') > 0 THEN
      INSERT INTO tool_executions (tool_id, task)
        SELECT tool_id, CASE WHEN task < 0 THEN created[-task] ELSE task END
        FROM json_to_recordset(parts -> 'tools') AS item(tool_id text, task bigint)
        ON CONFLICT DO NOTHING;
    END IF;

    IF json_array_length(parts -> 'chunks') > 0 THEN
      INSERT INTO content_chunks (task, hash, chunk, bytes)
        SELECT CASE WHEN task < 0 THEN created[-task] ELSE task END, hash, chunk, chunks[position]
        FROM json_to_recordset(parts -> 'chunks') AS item(task bigint, hash text, chunk integer, position integer)
        ON CONFLICT DO NOTHING;
    END IF;

    IF json_array_length(parts -> 'costs') > 0 THEN
      INSERT INTO costs
        SELECT * FROM json_to_recordset(parts -> 'costs') AS item(
          principal text, day integer, session_id text, model text, requests bigint, input_tokens bigint,
          output_tokens bigint, cached_input_tokens bigint, cache_write_tokens bigint, known_usd double precision,
          unpriced bigint)
        ON CONFLICT (principal, day, session_id, model) DO UPDATE SET
          requests = costs.requests + excluded.requests,
          input_tokens = costs.input_tokens + excluded.input_tokens,
          output_tokens = costs.output_tokens + excluded.output_tokens,
          cached_input_tokens = costs.cached_input_tokens + excluded.cached_input_tokens,
          cache_write_tokens = costs.cache_write_tokens + excluded.cache_write_tokens,
          known_usd = costs.known_usd + excluded.known_usd,
          unpriced = costs.unpriced + excluded.unpriced;
    END IF;

    IF json_array_length(parts -> 'extensions') > 0 THEN
      INSERT INTO budget_extensions
        SELECT * FROM json_to_recordset(parts -> 'extensions')
          AS item(principal text, day integer, usd double precision)
        ON CONFLICT (principal, day) DO UPDATE SET usd = greatest(budget_extensions.usd, excluded.usd);
    END IF;

    INSERT INTO written
      SELECT day, principal, p_server, events, bytes FROM json_to_recordset(parts -> 'written')
        AS item(day integer, principal text, events bigint, bytes bigint)
      ON CONFLICT (day, principal, server) DO UPDATE SET
        events = written.events + excluded.events, bytes = written.bytes + excluded.bytes;
    RETURN created;
  END
  $$;
`;

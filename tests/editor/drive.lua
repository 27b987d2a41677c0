-- Drives a headless Neovim against the editor door, and writes what it saw as JSON to $LSP_TOOLS_TEST_OUT.
-- What the editor would do by keys is done by the functions behind them; nothing talks to a server but Neovim's own client.

local out = { messages = {} }
local root = vim.env.LSP_TOOLS_TEST_ROOT

local function finish()
  local file = assert(io.open(vim.env.LSP_TOOLS_TEST_OUT, 'w'))
  file:write(vim.json.encode(out))
  file:close()
end

local function drive()
  vim.cmd('edit ' .. root .. '/greet/app.py')
  local client = vim.lsp.start_client({
    name = 'lsp-tools',
    cmd = { vim.env.LSP_TOOLS_TEST_BIN, 'lsp', '--no-daemon', '--workspace', root },
    root_dir = root,
  })
  vim.lsp.buf_attach_client(0, client)
  assert(vim.wait(60000, function() return vim.lsp.get_client_by_id(client).initialized end), 'not initialized')
  out.capabilities = vim.lsp.get_client_by_id(client).server_capabilities

  local function ask(method, line, character, more)
    local params = vim.tbl_extend('force', {
      textDocument = { uri = vim.uri_from_bufnr(0) },
      position = { line = line, character = character },
    }, more or {})
    local answers, error = vim.lsp.buf_request_sync(0, method, params, 90000)
    assert(answers, method .. ': ' .. tostring(error))
    assert(answers[client] and not answers[client].error, vim.inspect(answers))
    return answers[client].result
  end
  local function messages()
    local found = {}
    for _, one in ipairs(vim.diagnostic.get(0)) do table.insert(found, one.message) end
    return found
  end
  local function diagnosed(what, wanted)
    local function seen()
      for _, message in ipairs(messages()) do
        if message:find(what, 1, true) then return true end
      end
      return false
    end
    local ok = vim.wait(90000, function() return seen() == wanted end, 20)
    assert(ok, what .. ' expected: ' .. tostring(wanted) .. '; there is ' .. vim.inspect(messages()))
  end

  out.hover = ask('textDocument/hover', 8, 12)
  out.definition = ask('textDocument/definition', 8, 12)
  out.symbols = ask('textDocument/documentSymbol', 0, 0)

  -- An edit that is not saved, with a character before it that is two units wide.
  vim.api.nvim_buf_set_lines(0, 21, 21, false, { "CRAB = '🦀'; nowhere_defined" })
  diagnosed('nowhere_defined', true)
  out.unsaved = vim.diagnostic.get(0)
  out.disk = table.concat(vim.fn.readfile(root .. '/greet/app.py'), '\n')
  vim.api.nvim_buf_set_lines(0, 21, 22, false, {})
  diagnosed('nowhere_defined', false)

  local edit = ask('textDocument/rename', 6, 5, { newName = 'welcome_all' })
  vim.lsp.util.apply_workspace_edit(edit, 'utf-16')
  out.renamed = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  vim.cmd('write')
  out.defined = ask('textDocument/definition', 15, 17)
  vim.lsp.stop_client(client)
  vim.wait(30000, function() return vim.lsp.get_client_by_id(client) == nil end, 20)
end

local ok, problem = xpcall(drive, debug.traceback)
if not ok then out.problem = problem end
finish()
vim.cmd('qa!')
